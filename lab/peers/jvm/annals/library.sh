# The Java API of this checkout and its library. Sourced by the target.env of the systems that load it.
# ANNALS_LIBRARY names a library that is built already.
checkout=$here/../../..
bindings=$checkout/bindings/jvm
version=$ANNALS_VERSION
sources="$bindings/pom.xml $bindings/annals/pom.xml $bindings/annals/src/main"

prepare() {
  library=${ANNALS_LIBRARY:-}
  if [ -z "$library" ]; then
    export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$checkout/target}"
    cargo build --quiet --release --locked --manifest-path "$checkout/Cargo.toml" -p annals-jvm >&2
    library=$CARGO_TARGET_DIR/release/libannals_jvm.so
  fi
  sources="$sources $library"
}

finish() {
  cp "$library" "$folder/libannals_jvm.so"
}
