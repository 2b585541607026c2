const MAX_TEXT_CHARACTERS = 300;

/**
 * Returns one line without control and bidirectional characters.
 * @param most in characters
 */
export function toPlainText(text: string, most = MAX_TEXT_CHARACTERS): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}
