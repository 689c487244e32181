/* SPDX-License-Identifier: MIT */
/*
 * Arbitrary debugging information: for libFuzzer, and, without it, for files named on the command line.  An input is an
 * ELF file, which libdw reads.  The test is about the code that asks libdw for types.
 */
#include <elfutils/libdw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bin/trace/dwarf_type.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static void describe(Dwarf *dwarf, const char *reference)
{
	const struct px_fields_model model = px_fields_native();
	char *text = malloc(PX_FIELDS_TEXT_MAX + 1);
	struct px_fields_error error;
	struct px_fields *fields;
	const char *why = NULL;

	if (!text)
		abort();
	switch (dwarf_type_describe(dwarf, reference, text, &why)) {
	case DWARF_TYPE_FOUND:
		if (px_fields_parse(text, strlen(text), &model, &fields, &error) != 0 || !fields->top)
			abort();
		px_fields_free(fields);
		break;
	case DWARF_TYPE_UNFIT:
		if (!why)
			abort();
		break;
	default:
		break;
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static const char *const references[] = {"struct goods", "goods_t", "struct letter", "union any", "state_t"};
	char *copy = malloc(size ? size : 1); /* libelf may write to it */
	Dwarf *dwarf;
	Elf *elf;

	if (!copy)
		abort();
	memcpy(copy, input, size);
	elf_version(EV_CURRENT);
	elf = elf_memory(copy, size);
	dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	for (size_t i = 0; dwarf && i < sizeof(references) / sizeof(references[0]); i++)
		describe(dwarf, references[i]);
	dwarf_end(dwarf);
	elf_end(elf);
	free(copy);
	return 0;
}

#if !defined FUZZ_WITH_LIBFUZZER
int main(int argc, char **argv)
{
	static uint8_t input[1 << 20];

	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		size_t size = file ? fread(input, 1, sizeof(input), file) : 0;

		if (!file) {
			perror(argv[i]);
			return 1;
		}
		fclose(file);
		LLVMFuzzerTestOneInput(input, size);
	}
	return 0;
}
#endif
