/** Compares a number with the one of the period before, for figures on pages. */
export interface CountChange {
  direction: 'up' | 'down';
  /** `12 %`, or `0.4 pts` of a share. */
  text: string;
}

const MAX_PERCENT = 999;

/** Returns null when there is nothing to compare with, or nothing changed. */
export function toCountChange(now: number, before: number): CountChange | null {
  if (before === 0) return null;
  const percent = Math.round(((now - before) / before) * 100);
  if (percent === 0) return null;
  return {
    direction: percent > 0 ? 'up' : 'down',
    text: Math.abs(percent) > MAX_PERCENT ? `over ${MAX_PERCENT} %` : `${Math.abs(percent)} %`,
  };
}

/** @param now a share from 0 to 1, like `before` */
export function toShareChange(now: number, before: number | null): CountChange | null {
  if (before === null) return null;
  const points = Math.round((now - before) * 1000) / 10;
  return points === 0 ? null : { direction: points > 0 ? 'up' : 'down', text: `${Math.abs(points)} pts` };
}

/** Rounded down, so that 100 % means all. */
export const formatShare = (share: number): string => `${Math.floor(share * 1000) / 10} %`;
