import { toPrintable } from './text/printable.js';

/**
 * Formats an aligned table.
 * @returns lines without trailing blanks
 */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows].map((row) => row.map((cell) => toPrintable(cell)));
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      widths
        .map((width, column) => (row[column] ?? '').padEnd(width))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
