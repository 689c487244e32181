# SPDX-License-Identifier: MIT
# PX_ORIGIN(VARIABLE, FOLDER): linker options with which a file in FOLDER finds the libraries in libdir also if the
# installation was moved as a whole.  None if the libraries are where the dynamic loader looks for them anyway: a package
# of a distribution has no path of its own.
AC_DEFUN([PX_ORIGIN],
[px_way=$(
  test "x$prefix" != xNONE || prefix=$ac_default_prefix
  test "x$exec_prefix" != xNONE || exec_prefix=$prefix
  eval "from=\"$2\""
  eval "from=\"$from\""
  eval "to=\"$libdir\""
  eval "to=\"$to\""
  up=
  AS_CASE([$to], [/usr/lib*|/lib*], [exit])
  while AS_CASE([$to/], ["$from"/*], [false]); do
    from=${from%/*}
    up=../$up
  done
  to=${to@%:@"$from"}
  to=$up${to@%:@/}
  echo "${to:-.}")
$1=
AS_IF([test -n "$px_way"], [$1="-Wl,-rpath,'\$\$ORIGIN/$px_way'"])
AC_SUBST([$1])
])
