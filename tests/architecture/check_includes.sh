#!/usr/bin/env bash
# Fails on an include that goes against the direction of dependencies (DESIGN.md section 3)
# or shows a third party's types in a public header.
#   check_includes.sh ROOT
set -euo pipefail
root=$1
cd "$root"
bad=0

# forbid FOLDER ALLOWED...: our own includes in FOLDER must begin with one of ALLOWED.
forbid() {
  local folder=$1 file include allowed ok
  shift
  [ -d "$folder" ] || return 0
  while IFS=: read -r file _ include; do
    include=${include#*\"} include=${include%%\"*}
    ok=no
    for allowed in "$@"; do [[ $include == "$allowed"/* ]] && ok=yes; done
    if [ $ok = no ]; then
      echo "$file: $folder must not include \"$include\" (allowed: $*)"
      bad=1
    fi
  done < <(grep -rnE '^ *# *include *"' --include='*.h' --include='*.cc' "$folder" || true)
}

forbid probe/core probe/core
forbid probe/codec probe/core probe/codec
forbid probe/data probe/core probe/codec probe/data
forbid probe/imaging probe/core probe/codec probe/imaging
forbid probe/store probe/core probe/store
forbid encoders probe/core encoders
forbid index probe/core index
forbid analysis probe/core analysis
forbid probe/cli probe encoders index analysis

# confine PATTERN FOLDERS: headers of a library may be named only under FOLDERS, in .cc
# files and in the private headers listed here.
private='^(encoders/(torchscript|fused)_[a-z_]+\.h|probe/store/hdf5_[a-z_]+\.h|probe/imaging/picture_mat\.h)$'
confine() {
  local pattern=$1 folders=$2 file
  while read -r file; do
    if ! [[ $file =~ ^($folders)/ ]]; then
      echo "$file: <$pattern...> belongs to $folders only"
      bad=1
    elif [[ $file == *.h && ! $file =~ $private ]]; then
      echo "$file: a public header must not include <$pattern...>"
      bad=1
    fi
  done < <(grep -rlE "^ *# *include *<$pattern" --include='*.h' --include='*.cc' \
             probe encoders index analysis 2>/dev/null || true)
}

confine '(torch|ATen|c10|caffe2)/' 'encoders'
confine 'faiss/' 'index'
confine '(hdf5\.h|H5)' 'probe/store'
confine 'CLI/' 'probe/cli'
confine 'lbfgs\.h' 'analysis'
confine 'opencv2/' 'probe/codec|probe/imaging'
confine '(zip\.h|pugixml)' 'probe/data'
confine 'nlohmann/' 'probe/data|probe/store|probe/cli|encoders|analysis'
exit $bad
