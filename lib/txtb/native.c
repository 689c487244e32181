/* SPDX-License-Identifier: MIT */
/*
 * All texts are in two pools, and a row holds offsets into the pools.  With pointers instead of
 * offsets, each process that loads the library would need about 3000 relocations.
 */
#include "txtb/native.h"

#include <stddef.h>

struct names {
	char none; /* takes offset 0, so that offset 0 can mean "no name" */
#define PX_NATIVE(id, name, group, label1, label2, label3, label4, viewer_name)                    \
	char name_##id[sizeof(#name)];
#include "txtb/txtb-events.def"
};

static const struct names names = {
#define PX_NATIVE(id, name, group, label1, label2, label3, label4, viewer_name) .name_##id = #name,
#include "txtb/txtb-events.def"
};

struct labels {
	char label_none;
#define PX_LABEL(label) char label_##label[sizeof(#label)];
#include "txtb/txtb-events.def"
};

static const struct labels labels = {
#define PX_LABEL(label) .label_##label = #label,
#include "txtb/txtb-events.def"
};

_Static_assert(sizeof(names) <= UINT16_MAX && sizeof(labels) <= UINT16_MAX, "offsets have 16 bits");

struct row {
	uint16_t name; /* offset in names; 0: the id has no name */
	uint16_t label[PX_NATIVE_WORDS];
	bool is_in_viewer;
};

#define OFFSET(label) offsetof(struct labels, label_##label)

static const struct row rows[PX_NATIVE_IDS] = {
#define PX_NATIVE(id, name, group, label1, label2, label3, label4, viewer_name)                    \
	[id] = {offsetof(struct names, name_##id),                                                 \
		{OFFSET(label1), OFFSET(label2), OFFSET(label3), OFFSET(label4)},                  \
		sizeof(viewer_name) > 1},
#include "txtb/txtb-events.def"
};

const char *px_native_name(uint32_t id)
{
	if (id >= PX_NATIVE_IDS || rows[id].name == 0)
		return NULL;
	return (const char *)&names + rows[id].name;
}

const char *px_native_label(uint32_t id, unsigned int i)
{
	if (id >= PX_NATIVE_IDS || i >= PX_NATIVE_WORDS || rows[id].label[i] == 0)
		return NULL;
	return (const char *)&labels + rows[id].label[i];
}

bool px_native_is_in_viewer(uint32_t id)
{
	return id < PX_NATIVE_IDS && rows[id].is_in_viewer;
}
