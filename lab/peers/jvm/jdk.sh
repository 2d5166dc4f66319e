# Finds the newest JDK of this machine: sets java_home and java_major. Sourced by `install`.
# LAB_JAVA_HOME, then JAVA_HOME, then what stands under /usr/lib/jvm, then the java of the path.
# Units: java_least is the lowest major version that the system runs on, java_most the highest.
java_least=17
java_most=99
java_release=17

major_of() {
  "$1/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.specification.version = //p'
}

find_jdk() {
  java_home= java_major=0
  on_path=$(command -v java || true)
  [ -z "$on_path" ] || on_path=$(dirname "$(dirname "$(readlink -f "$on_path")")")
  for candidate in ${LAB_JAVA_HOME:-} ${JAVA_HOME:-} /usr/lib/jvm/* $on_path; do
    [ -x "$candidate/bin/java" ] || continue
    major=$(major_of "$candidate")
    case $major in ''|*[!0-9]*) continue;; esac
    if [ "$major" -ge "$java_least" ] && [ "$major" -le "$java_most" ] && [ "$major" -gt "$java_major" ]; then
      java_home=$candidate java_major=$major
    fi
  done
  [ "$java_major" -gt 0 ] || { echo "no JDK $java_least to $java_most was found; set LAB_JAVA_HOME" >&2; exit 1; }
}
