# SPDX-License-Identifier: MIT
# PX_SANITIZER(OPTION, NAME, CONDITIONAL)
# Defines --enable-OPTION, which compiles and links everything with -fsanitize=NAME. Appends to SAN_CFLAGS and
# SAN_LDFLAGS, sets px_OPTION to yes or no, and defines the Automake conditional.
AC_DEFUN([PX_SANITIZER],
[AC_ARG_ENABLE([$1],
  [AS_HELP_STRING([--enable-$1], [compile and link everything with -fsanitize=$2])],
  [px_$1=$enableval], [px_$1=no])
AS_IF([test "x$px_$1" != xno],
  [px_$1=yes
   AX_CHECK_LINK_FLAG([-fsanitize=$2],
     [SAN_CFLAGS="$SAN_CFLAGS -fsanitize=$2"
      SAN_LDFLAGS="$SAN_LDFLAGS -fsanitize=$2"],
     [AC_MSG_ERROR([--enable-$1: this compiler cannot link with -fsanitize=$2])])])
AM_CONDITIONAL([$3], [test "x$px_$1" = xyes])
])
