rootProject.name = "library"
