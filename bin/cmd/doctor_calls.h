/* SPDX-License-Identifier: MIT */
/* txtrace doctor: which calls a program can make, by the files of which it consists. */
#ifndef TXTRACE_CMD_DOCTOR_CALLS_H
#define TXTRACE_CMD_DOCTOR_CALLS_H

#include <sys/types.h>

#include "cmd/diagnosis.h"

/* Add the libraries that the loader of a program would load. */
void doctor_list_libraries(struct diagnosis *diagnosis, const char *loader, const char *program);

/* Add the program and each library of a process once. */
void doctor_list_mapped(struct diagnosis *diagnosis, pid_t pid);

/* Add remarks on the language of the program, and on the functions that its files call. */
void doctor_add_language(struct diagnosis *diagnosis);
void doctor_add_imports(struct diagnosis *diagnosis);

#endif
