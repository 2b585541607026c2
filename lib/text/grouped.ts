/** Numbers with commas between thousands, outside of templates. */
let english: Intl.NumberFormat | undefined;

/** `12,345`. Its tables are read with the first number: 10 ms and 8 MB, which a command or an idle service spares. */
export const grouped = (value: number): string => (english ??= new Intl.NumberFormat('en-GB')).format(value);
