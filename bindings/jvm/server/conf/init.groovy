// The source of traversals that drivers ask for.
def globals = [:]
globals << [g: traversal().withEmbedded(graph)]
