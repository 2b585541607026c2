/** A linear scan without backtracking, because the text is untrusted (contract 20, forges). */

export const MAX_TEXT_CHARACTERS = 65_536;
const MAX_REF_DIGITS = 9;

const FIX_KEYWORDS: ReadonlySet<string> = new Set(['fixes', 'closes', 'resolves']);
const URL_SCHEMES: ReadonlySet<string> = new Set(['http', 'https']);
/**
 * Characters allowed between a keyword and its ref, plus one line break: `Fixes: shop-17`, `fixes
 * (shop-17)`.
 */
const SEPARATORS: ReadonlySet<string> = new Set([' ', '\t', '\r', ':', '#', '(', '[', '<', '*', '`', '"', "'"]);

/**
 * A keyword only applies to the next ref; a text starting with `Revert` fixes nothing.
 * @param project its slug; refs of other projects are ignored
 */
export function findMentions(text: string, project: string): Map<string, boolean> {
  return new MentionScanner(text.slice(0, MAX_TEXT_CHARACTERS).toLowerCase(), project).scan();
}

/** Characters of slugs and refs; all others, including letters of other scripts, separate words. */
function isWordCharacter(code: number): boolean {
  const letter = code >= 0x61 && code <= 0x7a;
  return letter || (code >= 0x30 && code <= 0x39) || isJoint(code) || code === 0x5f;
}
/** `-` and `.` join words, and may surround them: `shop-17.` */
const isJoint = (code: number): boolean => code === 0x2d || code === 0x2e;

class MentionScanner {
  readonly #refs = new Map<string, boolean>();
  /** Whether a keyword directly precedes. */
  #fixes = false;
  #lineEnds = 0;
  /** State inside a URL, where only an item's page counts, with the preceding keyword. */
  #address: { fixes: boolean; last: string } | null = null;

  constructor(
    private readonly text: string,
    private readonly project: string,
  ) {}

  scan(): Map<string, boolean> {
    const { text } = this;
    for (let at = 0; at < text.length;) {
      if (!isWordCharacter(text.charCodeAt(at))) {
        this.#readSeparator(text.charAt(at));
        at += 1;
        continue;
      }
      const begin = at;
      while (at < text.length && isWordCharacter(text.charCodeAt(at))) at += 1;
      this.#readWord(begin, at);
    }
    if (text.trimStart().startsWith('revert')) for (const ref of this.#refs.keys()) this.#refs.set(ref, false);
    return this.#refs;
  }

  #readSeparator(character: string): void {
    const blank = character === ' ' || character === '\t' || character === '\n' || character === '\r';
    if (blank) this.#address = null;
    if (character === '\n') this.#lineEnds += 1;
    else if (!SEPARATORS.has(character)) this.#fixes = false;
    if (this.#lineEnds > 1) this.#fixes = false;
  }

  #readWord(begin: number, end: number): void {
    let from = begin;
    let to = end;
    while (from < to && isJoint(this.text.charCodeAt(from))) from += 1;
    while (to > from && isJoint(this.text.charCodeAt(to - 1))) to -= 1;
    this.#lineEnds = 0;
    if (from === to) this.#fixes = false;
    else if (this.#address !== null) this.#readAddressWord(this.#address, this.text.slice(from, to));
    else this.#readTextWord(this.text.slice(from, to), to);
    if (to !== end) this.#fixes = false;
  }

  #readTextWord(word: string, end: number): void {
    if (URL_SCHEMES.has(word) && this.text.startsWith('://', end)) {
      this.#address = { fixes: this.#fixes, last: word };
      this.#fixes = false;
      return;
    }
    if (this.#isRef(word)) this.#add(word, this.#fixes);
    this.#fixes = FIX_KEYWORDS.has(word);
  }

  /**
   * `https://aos.example.com/bugs/shop-17` mentions the item; a repository of that name does not.
   */
  #readAddressWord(address: { fixes: boolean; last: string }, word: string): void {
    if (address.last === 'bugs' && this.#isRef(word)) this.#add(word, address.fixes);
    address.last = word;
  }

  #add(ref: string, fixes: boolean): void {
    this.#refs.set(ref, fixes || this.#refs.get(ref) === true);
  }

  #isRef(word: string): boolean {
    const { project } = this;
    const digits = word.length - project.length - 1;
    if (digits < 1 || digits > MAX_REF_DIGITS || !word.startsWith(`${project}-`)) return false;
    for (let at = project.length + 1; at < word.length; at++) {
      const code = word.charCodeAt(at);
      if (code < 0x30 || code > 0x39) return false;
    }
    return word.charCodeAt(project.length + 1) !== 0x30;
  }
}
