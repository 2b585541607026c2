/** The values of secret settings, which no log line, failure reason or stored row may hold. */

const hidden = new Set<string>();
/** Shorter ones are found in every other word. */
const MIN_HIDDEN = 6;

/** From now on these texts are masked wherever they occur, also as part of a URL. */
export function hideTexts(secrets: readonly string[]): void {
  const long = secrets.filter((secret) => secret.length >= MIN_HIDDEN);
  const all = [...hidden, ...long, ...long.map(toUrlText)];
  hidden.clear();
  // A secret that begins another one would leave the rest of it visible.
  for (const text of all.toSorted((a, b) => b.length - a.length)) hidden.add(text);
}

/** Half a surrogate pair has no form in a URL. */
const toUrlText = (secret: string): string => encodeURIComponent(secret.toWellFormed());

/** A text without the hidden ones. */
export function redactText(text: string): string {
  let masked = text;
  for (const secret of hidden) masked = masked.replaceAll(secret, '[redacted]');
  return masked;
}
