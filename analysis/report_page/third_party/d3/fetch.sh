#!/usr/bin/env bash
# Gets d3.min.js and LICENSE beside this script anew and checks them. Needs npm.
set -euo pipefail
cd "$(dirname "$0")"
version=7.9.0
archive=7e36605710a2ba54846797c8c6d888911341b215ae53257dc32a49a0b824355e
script=f2094bbf6141b359722c4fe454eb6c4b0f0e42cc10cc7af921fc158fceb86539
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && npm pack --silent "d3@$version" >/dev/null)
echo "$archive  $folder/d3-$version.tgz" | sha256sum --check --quiet
tar -xzf "$folder/d3-$version.tgz" -C "$folder"
cp "$folder/package/dist/d3.min.js" "$folder/package/LICENSE" .
echo "$script  d3.min.js" | sha256sum --check
