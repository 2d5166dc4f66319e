// The source of traversals that drivers ask for.
if (!binding.hasVariable('graph')) {
    System.err.println('Gremlin Server: the repository could not be opened, for the reason above; it ends')
    System.exit(1)
}
def globals = [:]
globals << [g: traversal().withEmbedded(graph)]
