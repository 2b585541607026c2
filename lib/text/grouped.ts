let english: Intl.NumberFormat | undefined;

/** Formats `12,345`. The formatter is created lazily, because its tables cost time and memory. */
export const grouped = (value: number): string => (english ??= new Intl.NumberFormat('en-GB')).format(value);
