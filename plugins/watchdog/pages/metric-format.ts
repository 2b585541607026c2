const UNITS_BY_SUFFIX: readonly (readonly [RegExp, string])[] = [
  [/(?:^|_)(?:percent|pct)$/i, '%'],
  [/(?:^|_)(?:ms|millis|milliseconds)$/i, 'ms'],
  [/(?:^|_)(?:s|sec|secs|seconds)$/i, 's'],
  [/(?:^|_)(?:minutes|mins)$/i, 'min'],
  [/(?:^|_)(?:days)$/i, 'd'],
  [/(?:^|_)(?:bytes)$/i, 'B'],
  [/(?:^|_)(?:kb|kib)$/i, 'KiB'],
  [/(?:^|_)(?:mb|mib)$/i, 'MiB'],
  [/(?:^|_)(?:gb|gib)$/i, 'GiB'],
  [/(?:^|_)(?:celsius|temp_c)$/i, '°C'],
];

export const getMetricUnit = (name: string): string => UNITS_BY_SUFFIX.find(([ending]) => ending.test(name))?.[1] ?? '';

const UNIT_PREFIXES = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
] as const;

function formatDigits(value: number): [text: string, prefix: string] {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 100_000) return [value.toLocaleString('en-GB'), ''];
  const [scale, prefix] = UNIT_PREFIXES.find(([one]) => size >= one) ?? [1, ''];
  const rounded = Number((value / scale).toPrecision(3));
  if (rounded !== 0 && Math.abs(rounded) < 1e-4) return [rounded.toExponential(), ''];
  return [rounded.toLocaleString('en-GB', { maximumSignificantDigits: 3 }), prefix];
}

/**
 * `5.01 ms`, `1.25 GB`, `1.25 M`, `42%`; `–` without a value.
 * @param name implies the unit
 */
export function formatMetricValue(value: number | null, name = ''): string {
  if (value === null || !Number.isFinite(value)) return '–';
  const [text, prefix] = formatDigits(value);
  const unit = prefix + getMetricUnit(name);
  return unit === '' ? text : `${text}${unit === '%' ? '' : ' '}${unit}`;
}
