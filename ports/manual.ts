/** The guides that came with this version of the service: Markdown pages and the pictures in them (contract 95). */

export interface ManualPage {
  /** Path below `docs/` without its ending: `operations`, `decisions/003-outbox-in-the-document`. */
  name: string;
  /** Markdown. */
  text: string;
}

export interface Manual {
  /** Every page, by name. Read once; a program that was installed without guides has none. */
  pages(): Promise<readonly ManualPage[]>;
  /** The bytes of a picture by its path below `docs/` (`images/bug.png`); null: there is none. */
  picture(path: string): Promise<{ bytes: Uint8Array; type: string } | null>;
}

/** As forges make the anchor of a heading, so that links of the guides lead to the same place here and there. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** Anchors of one page: a second heading of the same words is numbered. */
export class Anchors {
  readonly #taken = new Set<string>();

  of(heading: string): string {
    const base = anchorOf(heading);
    let anchor = base;
    for (let n = 1; this.#taken.has(anchor); n++) anchor = `${base}-${n}`;
    this.#taken.add(anchor);
    return anchor;
  }
}
