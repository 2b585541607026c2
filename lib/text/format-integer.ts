let englishFormat: Intl.NumberFormat | undefined;

/** Formats `12,345`. The formatter is created lazily, because its tables cost time and memory. */
export const formatInteger = (value: number): string =>
  (englishFormat ??= new Intl.NumberFormat('en-GB')).format(value);
