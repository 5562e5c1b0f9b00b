#!/bin/sh
# Builds the lab beside itself: the same flags as the package.
cd "$(dirname "$0")" && /work/venv/bin/cython -3 -X cdivision=True -X boundscheck=False -X wraparound=False -I ../pyx ropelab.pyx -o ropelab.c 2>&1 | grep -v warning && :
gcc -shared -fPIC -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -Wno-unused-function \
  $(/work/venv/bin/python -c "import sysconfig,numpy;print('-I'+sysconfig.get_paths()['include'],'-I'+numpy.get_include())") \
  ropelab.c -o ropelab.so
