/** Brand colors of sellers (WCAG 2, contrast ratio). */
export const COLOUR_PATTERN = /^#[0-9a-f]{6}$/i;
export const COLOUR_MESSAGE = 'must be a color such as #0a6640';
export const DEFAULT_COLOUR = '#0e5f59';

function getLuminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Returns 1 to 21; text needs 4.5. */
export function getContrastRatio(one: string, other: string): number {
  const [dark = 0, light = 0] = [getLuminance(one), getLuminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Returns black or white, with a contrast above 4.5 on any color. */
export const pickTextColour = (colour: string): '#000000' | '#ffffff' =>
  getContrastRatio(colour, '#ffffff') >= getContrastRatio(colour, '#000000') ? '#ffffff' : '#000000';

/** Formats a style sheet with the color and its text color. @param chosen null: the default */
export function formatBrandStyles(chosen: string | null): string {
  const colour = chosen ?? DEFAULT_COLOUR;
  return `:root{--brand:${colour};--brand-ink:${pickTextColour(colour)}}`;
}
