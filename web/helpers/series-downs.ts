import { escapeHtml, renderAttributes, toText } from './html.js';

interface DownSpan {
  from: number;
  to: number;
}

/** @param value `{from, to}` in RFC 3339; what is outside of the chart is left out */
export function toDownSpans(value: unknown, [first, last]: readonly [number, number]): DownSpan[] {
  const all = Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
  return all.flatMap((span) => {
    const from = Math.max(Date.parse(toText(span['from'])), first);
    const to = Math.min(Date.parse(toText(span['to'])), last);
    return from <= to ? [{ from, to }] : [];
  });
}

/**
 * Shades the times in which a monitor was down, behind the series.
 * @param describe formats the title of a span
 */
export const renderDownSpans = (
  spans: readonly DownSpan[],
  x: (at: number) => number,
  height: number,
  describe: (span: DownSpan) => string,
): string[] =>
  spans.map((span) => {
    const left = Math.round(x(span.from) * 100) / 100;
    const width = Math.max(Math.round((x(span.to) - x(span.from)) * 100) / 100, 1.5);
    const set = renderAttributes({ class: 'series-down', x: left, y: 0, width, height });
    return `<rect${set}><title>${escapeHtml(describe(span))}</title></rect>`;
  });
