/* SPDX-License-Identifier: MIT */
/* The files of this folder, as arrays of bytes.  A rule in bin/module.am makes page.c from them. */
#ifndef TXTRACE_EXPORT_HTML_PAGE_H
#define TXTRACE_EXPORT_HTML_PAGE_H

#include <stddef.h>

extern const unsigned char page_html[], page_css[], page_js[];
extern const size_t page_html_size, page_css_size, page_js_size;

#endif
