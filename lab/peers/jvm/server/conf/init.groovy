// The source of traversals that drivers ask for.
def source
try {
    source = traversal().withEmbedded(graph)
} catch (MissingPropertyException missing) {
    System.err.println('Gremlin Server: the repository could not be opened, for the reason above; it ends')
    System.exit(1)
}
def globals = [:]
globals << [g: source]
