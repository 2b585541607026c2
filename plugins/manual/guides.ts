import type { Manual, ManualPage } from '../../ports/manual.js';
import { getPageBody, parseSections, getPageTitle, type GuideSection } from './sections.js';

export interface Guide extends ManualPage {
  title: string;
  body: string;
  sections: readonly GuideSection[];
}

export interface GuideHit {
  /** `Operations › Backup` */
  title: string;
  href: string;
  detail: string;
}

export interface GuideGroup {
  title: string;
  guides: { name: string; title: string; text: string }[];
}

/** Table of contents whose sections and links order the guides. */
const INDEX_PAGE = 'README';
const GUIDE_LINK_PATTERN = /\]\(([a-z][a-z-]*)\.md\)/g;
const SUBFOLDER_PATTERN = /^(decisions|spec)\//;
const MAX_DETAIL_CHARACTERS = 160;

const stripMarkdown = (text: string): string =>
  text
    .replaceAll(/[`*]|^#+ |\[([^\]]*)\]\([^)]*\)/gm, '$1')
    .replaceAll(/\s*\|[\s|-]*/g, ' · ')
    .replaceAll(/\s+/g, ' ')
    .trim();

const getFirstLine = (text: string): string => {
  const paragraph = text.split(/\n\s*\n/).find((part) => /^[\p{L}`*[]/u.test(part.trim())) ?? '';
  const line = stripMarkdown(paragraph);
  return line.length > MAX_DETAIL_CHARACTERS ? `${line.slice(0, MAX_DETAIL_CHARACTERS - 1)}…` : line;
};

function extractContext(text: string, word: string): string {
  const flat = stripMarkdown(text);
  const at = Math.max(0, flat.toLowerCase().indexOf(word));
  const from = Math.max(0, at - MAX_DETAIL_CHARACTERS / 2);
  return `${from > 0 ? '…' : ''}${flat.slice(from, from + MAX_DETAIL_CHARACTERS)}${from + MAX_DETAIL_CHARACTERS < flat.length ? '…' : ''}`;
}

const toGuideEntry = ({ name, title, sections }: Guide): GuideGroup['guides'][number] => ({
  name,
  title,
  text: getFirstLine(sections[0]?.text ?? ''),
});

export class GuideIndex {
  #guides: Promise<readonly Guide[]> | null = null;

  constructor(private readonly manual: Manual) {}

  async list(): Promise<readonly Guide[]> {
    this.#guides ??= this.manual.listPages().then((pages) =>
      pages.map((page) => ({
        ...page,
        title: getPageTitle(page),
        body: getPageBody(page),
        sections: parseSections(page),
      })),
    );
    try {
      return await this.#guides;
    } catch (error) {
      this.#guides = null;
      throw error;
    }
  }

  async find(name: string): Promise<Guide | null> {
    return (await this.list()).find((guide) => guide.name === name) ?? null;
  }

  /**
   * Returns guides by the sections of their index, then the rest, then the decisions and the
   * specification.
   */
  async listGroups(): Promise<GuideGroup[]> {
    const all = await this.list();
    const index = (await this.find(INDEX_PAGE))?.body ?? '';
    const sections = index.split(/^## /m).slice(1);
    const groups = sections.map((section) => ({
      title: section.split('\n', 1)[0]?.trim() ?? '',
      guides: [...section.matchAll(GUIDE_LINK_PATTERN)].flatMap(([, name]) =>
        all.filter((guide) => guide.name === name),
      ),
    }));
    const named = new Set([INDEX_PAGE, ...groups.flatMap(({ guides }) => guides.map(({ name }) => name))]);
    const others = all.filter(({ name }) => !named.has(name) && !SUBFOLDER_PATTERN.test(name));
    // Each folder is listed by its table of contents, so that users see guides first.
    const deeper = all
      .filter(({ name }) => SUBFOLDER_PATTERN.test(name) && name.endsWith('/README'))
      .map(({ name, title }) => ({ name, title, text: '' }));
    return [
      ...groups.map(({ title, guides }) => ({ title, guides: guides.map(toGuideEntry) })),
      { title: 'More', guides: others.map(toGuideEntry) },
      { title: 'Decisions and specification', guides: deeper },
    ].filter(({ guides }) => guides.length > 0);
  }

  /**
   * Returns sections that contain every word; heading matches come first.
   * @param words lower case, at least one
   * @param guidesOnly leaves decisions and the specification out
   */
  async search(words: readonly string[], limit: number, guidesOnly = false): Promise<GuideHit[]> {
    const found: { hit: GuideHit; rank: number }[] = [];
    for (const guide of await this.list()) {
      if (guidesOnly && SUBFOLDER_PATTERN.test(guide.name)) continue;
      for (const section of guide.sections) {
        const heading = `${guide.title} ${section.heading}`.toLowerCase();
        const text = section.text.toLowerCase();
        if (!words.every((word) => heading.includes(word) || text.includes(word))) continue;
        const rank =
          words.filter((word) => heading.includes(word)).length + (SUBFOLDER_PATTERN.test(guide.name) ? -1 : 0);
        const title = section.anchor === '' ? guide.title : `${guide.title} › ${section.heading}`;
        const anchor = section.anchor === '' ? '' : `#${section.anchor}`;
        const missing = words.find((word) => text.includes(word)) ?? '';
        found.push({
          rank,
          hit: { title, href: `/docs/${guide.name}${anchor}`, detail: extractContext(section.text, missing) },
        });
      }
    }
    return found
      .toSorted((a, b) => b.rank - a.rank)
      .slice(0, limit)
      .map(({ hit }) => hit);
  }
}
