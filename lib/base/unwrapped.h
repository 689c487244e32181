/* SPDX-License-Identifier: MIT */
/*
 * With this header, calls of the C library do not go through the preloaded object.  A program may use this library and
 * also run under the preloaded object.  The object would record the calls that this library makes: each read of a
 * stream would add events to the stream, and a program that reads its own stream would never reach the end.
 *
 * The compiler includes this header first in each file of the library.  The calls of the functions in unwrapped.def
 * then go to px_unwrapped_NAME (unwrapped.c), which jumps to the real function.  The preloaded object has its own copy
 * of the library, and does not use this header.
 */
#ifndef PX_BASE_UNWRAPPED_H
#define PX_BASE_UNWRAPPED_H

#if defined __x86_64__ || defined __aarch64__
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#define PX_UNWRAPPED(name) extern __typeof__(name) name __asm__("px_unwrapped_" #name);
#include "base/unwrapped.def"
#undef PX_UNWRAPPED
#pragma GCC diagnostic pop
#endif

#endif
