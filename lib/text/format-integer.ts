let englishFormat: Intl.NumberFormat | undefined;

/** Formats `12,345`. */
export const formatInteger = (value: number): string =>
  (englishFormat ??= new Intl.NumberFormat('en-GB')).format(value);
