import type { Manual, ManualPage } from '../../ports/manual.js';
import { bodyOf, sectionsOf, titleOf, type Section } from './sections.js';

export interface Guide extends ManualPage {
  title: string;
  body: string;
  sections: readonly Section[];
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

/** Groups by task, in the order of docs/README.md; the last one collects the rest. */
const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  [
    'Run it',
    [
      'operations',
      'upgrading',
      'archives',
      'scaling',
      'runbook',
      'configuration',
      'keys',
      'security',
      'body-limits',
      'errors',
      'exit-codes',
    ],
  ],
  [
    'Move from another product',
    ['moving-from-sentry', 'moving-from-healthchecks', 'moving-from-uptime-kuma', 'moving-from-keygen'],
  ],
  [
    'Send errors and work on them',
    ['developers', 'clients', 'sdk-api', 'grouping', 'ignore-rules', 'bugs', 'forges', 'agents', 'dispatch'],
  ],
  ['Ship and update', ['packager', 'releases', 'update-agent', 'installing', 'setup', 'setup-json', 'loop']],
  ['Sell, watch and tell', ['licensing', 'watchdog', 'webhooks', 'notifications']],
  ['Use the pages', ['ui', 'daily-tasks', 'glossary']],
  [
    'Build on it',
    [
      'plugins',
      'plugin-api',
      'plugin-domain',
      'plugin-testing',
      'architecture',
      'consistency',
      'benchmarks',
      'packages',
    ],
  ],
];
const DEEPER = /^(decisions|spec)\//;
const DETAIL_CHARS = 160;

const unmarked = (text: string): string =>
  text
    .replaceAll(/[`*]|^#+ |\[([^\]]*)\]\([^)]*\)/gm, '$1')
    .replaceAll(/\s*\|[\s|-]*/g, ' · ')
    .replaceAll(/\s+/g, ' ')
    .trim();

const firstLine = (text: string): string => {
  const paragraph = text.split(/\n\s*\n/).find((part) => /^[\p{L}`*[]/u.test(part.trim())) ?? '';
  const line = unmarked(paragraph);
  return line.length > DETAIL_CHARS ? `${line.slice(0, DETAIL_CHARS - 1)}…` : line;
};

function around(text: string, word: string): string {
  const flat = unmarked(text);
  const at = Math.max(0, flat.toLowerCase().indexOf(word));
  const from = Math.max(0, at - DETAIL_CHARS / 2);
  return `${from > 0 ? '…' : ''}${flat.slice(from, from + DETAIL_CHARS)}${from + DETAIL_CHARS < flat.length ? '…' : ''}`;
}

const described = ({ name, title, sections }: Guide): GuideGroup['guides'][number] => ({
  name,
  title,
  text: firstLine(sections[0]?.text ?? ''),
});

export class Guides {
  #guides: Promise<readonly Guide[]> | null = null;

  constructor(private readonly manual: Manual) {}

  async all(): Promise<readonly Guide[]> {
    this.#guides ??= this.manual
      .pages()
      .then((pages) =>
        pages.map((page) => ({ ...page, title: titleOf(page), body: bodyOf(page), sections: sectionsOf(page) })),
      );
    try {
      return await this.#guides;
    } catch (error) {
      this.#guides = null;
      throw error;
    }
  }

  async find(name: string): Promise<Guide | null> {
    return (await this.all()).find((guide) => guide.name === name) ?? null;
  }

  /** Returns guides by task, then decisions and the specification. */
  async groups(): Promise<GuideGroup[]> {
    const all = await this.all();
    const named = new Set(GROUPS.flatMap(([, names]) => names));
    const groups = GROUPS.map(([title, names]) => ({
      title,
      guides: names.flatMap((name) => all.filter((guide) => guide.name === name)).map(described),
    }));
    const others = all.filter(({ name }) => !named.has(name) && !DEEPER.test(name));
    const deeper = all.filter((guide) => DEEPER.test(guide.name)).map(({ name, title }) => ({ name, title, text: '' }));
    return [
      ...groups,
      { title: 'More', guides: others.map(described) },
      { title: 'Decisions and specification', guides: deeper },
    ].filter(({ guides }) => guides.length > 0);
  }

  /**
   * Returns sections that contain every word; heading matches come first.
   * @param words lower case, at least one
   */
  async search(words: readonly string[], limit: number): Promise<GuideHit[]> {
    const found: { hit: GuideHit; rank: number }[] = [];
    for (const guide of await this.all()) {
      for (const section of guide.sections) {
        const heading = `${guide.title} ${section.heading}`.toLowerCase();
        const text = section.text.toLowerCase();
        if (!words.every((word) => heading.includes(word) || text.includes(word))) continue;
        const rank = words.filter((word) => heading.includes(word)).length + (DEEPER.test(guide.name) ? -1 : 0);
        const title = section.anchor === '' ? guide.title : `${guide.title} › ${section.heading}`;
        const anchor = section.anchor === '' ? '' : `#${section.anchor}`;
        const missing = words.find((word) => text.includes(word)) ?? '';
        found.push({
          rank,
          hit: { title, href: `/docs/${guide.name}${anchor}`, detail: around(section.text, missing) },
        });
      }
    }
    return found
      .toSorted((a, b) => b.rank - a.rank)
      .slice(0, limit)
      .map(({ hit }) => hit);
  }
}
