/** Values of secret settings, which must not appear in logs or stored rows. */

const hiddenTexts = new Set<string>();
/** Shorter values occur in ordinary words. */
const MIN_HIDDEN_LENGTH = 6;

/** Masks these texts from now on. */
export function hideTexts(secrets: readonly string[]): void {
  const long = secrets.filter((secret) => secret.length >= MIN_HIDDEN_LENGTH);
  const all = [...hiddenTexts, ...long, ...long.map(toUrlText)];
  hiddenTexts.clear();
  // Longest first: a prefix would leave the rest visible.
  for (const text of all.toSorted((a, b) => b.length - a.length)) hiddenTexts.add(text);
}

/** A lone surrogate has no URL encoding. */
const toUrlText = (secret: string): string => encodeURIComponent(secret.toWellFormed());

/** Masks hidden texts. */
export function redactText(text: string): string {
  let masked = text;
  for (const secret of hiddenTexts) masked = masked.replaceAll(secret, '[redacted]');
  return masked;
}
