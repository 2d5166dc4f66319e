plugins {
    application
}

repositories {
    mavenLocal()
    mavenCentral()
}

dependencies {
    implementation("dev.annals:annals:0.1.0")
}

java {
    toolchain {
        languageVersion = JavaLanguageVersion.of(17)
    }
}

application {
    mainClass = "example.Library"
    // The path of libannals_jvm.so, if the jar has none: gradle run -Plibrary=PATH
    providers.gradleProperty("library").orNull?.let { applicationDefaultJvmArgs = listOf("-Ddev.annals.library=$it") }
}
