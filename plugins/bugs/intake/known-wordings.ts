/**
 * What reports said lately. Those of a storm say the same: their texts are known to be whole and to hold no secret, and
 * they lead to the same keys.
 */
import { BoundedMap } from '../../../lib/bounded-map.js';
import type { Report } from '../../../ports/domain/bugs.js';
import type { Grouping } from '../grouping/key.js';
import type { MaskOptions } from '../grouping/mask.js';
import { normaliseOrigin } from '../grouping/origin.js';
import { WORDS } from '../text/scrub.js';

/** Wordings. */
const MOST_KNOWN = 500;
/** Characters of a text that is remembered. */
const LONGEST = 1_024;

interface Wording {
  report: Pick<Report, 'project' | 'type' | (typeof WORDS)[number]>;
  masks: Masks;
  grouping: Grouping;
}

/** Those of the keys; nobody changes them. */
type Masks = Partial<MaskOptions>;

export class KnownWordings {
  readonly #known = new BoundedMap<Wording>({ most: MOST_KNOWN });

  /** The keys of a report of the same words that was added. */
  groupingOf(report: Report, masks: Masks): Grouping | null {
    if (!isDecided(report)) return null;
    const known = this.#known.get(nameOf(report));
    return known !== undefined && known.masks === masks && isSame(known.report, report) ? known.grouping : null;
  }

  /**
   * Adds a report that is stored as it came.
   * @param grouping of the report, by no grouping rule
   */
  add(report: Report, masks: Masks, { dedup_key, bare_key, origin, masked }: Grouping): void {
    if (!isDecided(report) || normaliseOrigin(report.file_path ?? '') === '') return;
    if (WORDS.some((name) => (report[name]?.length ?? 0) > LONGEST)) return;
    const { project, type, title } = report;
    const words: Wording['report'] = { project: copyOf(project), type, title };
    for (const name of WORDS) {
      const text = report[name];
      Object.assign(words, { [name]: typeof text === 'string' ? copyOf(text) : text });
    }
    const grouping = { dedup_key, bare_key, origin: copyOf(origin), masked };
    this.#known.set(nameOf(words), { report: words, masks, grouping });
  }
}

/** A text of its own: a piece of a larger text, as a cut one is, would keep all of it in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString();

const nameOf = ({ error_message, title }: Pick<Report, 'error_message' | 'title'>): string => error_message ?? title;

/** Whether the words alone decide the keys: no fingerprint, and no file that is read from the stack trace. */
const isDecided = ({ file_path, fingerprint, members }: Report): boolean =>
  !!file_path && !fingerprint?.length && !members?.length;

function isSame(known: Wording['report'], report: Report): boolean {
  if (known.project !== report.project || known.type !== report.type) return false;
  for (const name of WORDS) if (known[name] !== report[name]) return false;
  return true;
}
