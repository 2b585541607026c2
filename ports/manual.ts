/** The guides of this version: Markdown pages and pictures (contract 95). */

export interface ManualPage {
  /** Path below `docs/` without extension. */
  name: string;
  /** Markdown. */
  text: string;
}

export interface Manual {
  /** Sorted by name; empty when installed without guides. */
  listPages(): Promise<readonly ManualPage[]>;
  /** @param path below `docs/`: `images/bug.png` */
  readPicture(path: string): Promise<{ bytes: Uint8Array; type: string } | null>;
}

/** Converts a heading to its anchor as forges do, so that links work in both places. */
export const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** Generates unique anchors of one page. */
export class AnchorGenerator {
  readonly #usedAnchors = new Set<string>();

  createAnchor(heading: string): string {
    const base = toAnchor(heading);
    let anchor = base;
    for (let n = 1; this.#usedAnchors.has(anchor); n++) anchor = `${base}-${n}`;
    this.#usedAnchors.add(anchor);
    return anchor;
  }
}
