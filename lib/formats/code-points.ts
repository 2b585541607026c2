/** Compares by code point (UTF-8 byte order). */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return getUnitRank(left) - getUnitRank(right);
  }
  return a.length - b.length;
}

/** Surrogates encode code points above all others. */
const getUnitRank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
