/* SPDX-License-Identifier: MIT */
#ifndef PX_PRELOAD_WRAP_VFORK_H
#define PX_PRELOAD_WRAP_VFORK_H

/* In a child by fork(): it has only the thread that called fork(), so no thread is in vfork(). */
void px_vfork_forget(void);

#endif
