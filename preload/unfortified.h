/* SPDX-License-Identifier: MIT */
/*
 * The compiler includes this before all else in each file of the preloaded object.  With _FORTIFY_SOURCE, headers
 * define inline functions that call the C library by names that direct.h cannot change, such as __read_chk().  This
 * object wraps these names, so the calls of its own library would reach the wrappers.
 *
 * The options of the user come behind those of the makefile, so -U_FORTIFY_SOURCE there would not be enough.
 */
#ifndef PX_PRELOAD_UNFORTIFIED_H
#define PX_PRELOAD_UNFORTIFIED_H

#undef _FORTIFY_SOURCE

#endif
