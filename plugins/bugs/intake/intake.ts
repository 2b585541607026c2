/**
 * The single entry point for reports (contracts 20 and 21): accept → resolve group → count → follow
 * up. This file holds the order of the steps.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { conflict } from '../../../kernel/errors.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { yieldToEventLoop } from '../../../lib/process/event-loop.js';
import type { Item, ListedReport, Recorded, RecordOptions, Report } from '../../../ports/domain/bugs.js';
import { type BugDeps, DEPS } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import { ClientRefs } from '../store/client-refs.js';
import { Items } from '../store/items.js';
import { Acceptance } from './acceptance.js';
import { Counting } from './counting.js';
import { type FollowedUp, FollowUp } from './follow-up.js';
import type { AcceptedReport, Counted } from './incoming-report.js';
import { Placing } from './placing.js';
import type { ItemDoc } from '../item/model.js';
import { countLastHour } from '../item/rate.js';
import { toItemView, getStatusAt } from '../item/view.js';

interface Occurred {
  outcome: 'created' | 'counted' | 'repeated';
  /** The key that the report was grouped by; for a repeat, the key of its item. */
  dedup_key: string;
  regression: boolean;
  sampled: boolean;
  title: string;
  ignored_by: string | null;
}

/** The item is built on first access, because few callers need it. */
class RecordedReport implements Recorded {
  readonly id: string;
  readonly ref: string;
  readonly created: boolean;
  readonly deduplicated: boolean;
  readonly repeated: boolean;
  readonly dedup_key: string;
  readonly hit_count: number;
  readonly hour_count: number;
  readonly regression: boolean;
  readonly sampled: boolean;
  readonly title: string;
  readonly overflow: boolean;
  readonly ignored_by: string | null;
  readonly group: Recorded['group'];
  readonly #doc: ItemDoc;
  readonly #now: number;
  #item: Item | null;

  /**
   * @param now milliseconds since 1970
   * @param item with its long texts, if requested
   */
  constructor(doc: ItemDoc, occurred: Occurred, now: number, item: Item | null) {
    const { outcome } = occurred;
    this.id = doc.id;
    this.ref = doc.ref;
    this.created = outcome === 'created';
    this.deduplicated = outcome === 'counted';
    this.repeated = outcome === 'repeated';
    this.dedup_key = outcome === 'repeated' ? doc.dedup_key : occurred.dedup_key;
    this.hit_count = doc.hit_count;
    this.hour_count = countLastHour(doc.minutes, now);
    this.regression = occurred.regression;
    this.sampled = occurred.sampled;
    this.title = occurred.title;
    this.overflow = doc.overflow === true;
    this.ignored_by = occurred.ignored_by;
    this.group = { title: doc.title, severity: doc.severity, status: getStatusAt(doc, now) };
    this.#doc = doc;
    this.#now = now;
    this.#item = item;
  }

  get item(): Item {
    return (this.#item ??= toItemView(this.#doc, null, this.#now));
  }
}

type Result = PromiseSettledResult<Recorded>;

interface Listed {
  at: number;
  accepted: AcceptedReport;
}

/** Maximum retries when the target item is deleted or created concurrently. */
const BEGINNINGS = 20;

@injectable()
export class ReportIntake {
  /**
   * Serializes reports that may create an item in the same family, so that no item number is
   * wasted.
   */
  readonly #deciding = new KeyedMutex();

  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'clock'>,
    @inject(Acceptance) private readonly acceptance: Acceptance,
    @inject(ClientRefs) private readonly refs: ClientRefs,
    @inject(Placing) private readonly placing: Placing,
    @inject(Counting) private readonly counting: Counting,
    @inject(FollowUp) private readonly followUp: FollowUp,
    @inject(Items) private readonly items: Items,
  ) {}

  /**
   * Groups, counts and stores one report; resolves after the commit.
   * @throws ServiceError unknown_project
   */
  async record(given: Report, options: RecordOptions = {}): Promise<Recorded> {
    return this.recordAccepted(await this.acceptance.accept(given, options.details), options);
  }

  async recordAccepted(accepted: AcceptedReport, options: RecordOptions = {}): Promise<Recorded> {
    for (let beginning = 0; beginning < BEGINNINGS; beginning++) {
      const counted = await this.#placeAndCount(accepted);
      if (counted !== null) return this.#answer(await this.followUp.of(counted), accepted, options);
    }
    throw conflict('The item changes too often at the moment; send the report again.');
  }

  async #placeAndCount(accepted: AcceptedReport): Promise<Counted | null> {
    const { ref } = accepted;
    const leading = this.placing.known(accepted);
    const known = leading instanceof Promise ? await leading : leading;
    // References are nearly always new, and the write rejects an existing one, so no lookup is
    // needed.
    const isTried = known !== null && (ref === null || !this.refs.isSeenLately(ref.id));
    const counted = isTried ? await this.counting.atOnce(accepted, known) : null;
    if (counted !== null) return counted;

    const bound = ref === null ? null : await this.refs.find(ref.id);
    if (bound?.open_at === null) return this.counting.repeat(accepted, bound);
    if (bound !== null) return this.counting.withCare(accepted, this.placing.at(bound.item_id, accepted), bound);
    if (known !== null) return this.counting.withCare(accepted, known, null);
    const { project, bare_key } = accepted.keyed;
    return this.#deciding.run(hashWithinProject(project, bare_key), () => this.#decideAndCount(accepted));
  }

  async #decideAndCount(accepted: AcceptedReport): Promise<Counted | null> {
    const place = await this.placing.decide(accepted);
    if (place.writes.length > 0) return this.counting.create(accepted, place);
    return (await this.counting.atOnce(accepted, place)) ?? this.counting.withCare(accepted, place, null);
  }

  #answer(
    { doc, outcome, regression, sampled, incoming }: FollowedUp,
    { report, own_title: title }: AcceptedReport,
    options: RecordOptions,
  ): Recorded | Promise<Recorded> {
    const now = this.deps.clock.now();
    const ignored_by = report.muted_by?.rule_id ?? null;
    const occurred = { outcome, dedup_key: incoming.key, regression, sampled, title, ignored_by };
    if (options.texts !== true) return new RecordedReport(doc, occurred, now, null);
    return this.items.view(doc).then((whole) => new RecordedReport(doc, occurred, now, whole));
  }
}

/**
 * Records a list of reports as if each had arrived alone, in order (contract 21, intake). Reports
 * with the same key are counted together. The order decides which group an unknown origin joins, so
 * new keys of one project and class are recorded in order.
 */
@injectable()
export class ReportLists {
  constructor(
    @inject(Acceptance) private readonly acceptance: Acceptance,
    @inject(Placing) private readonly placing: Placing,
    @inject(ReportIntake) private readonly intake: ReportIntake,
  ) {}

  /**
   * Returns the results in the list's order. A report that is rejected or fails affects no other.
   */
  async record(given: readonly ListedReport[]): Promise<Result[]> {
    const results: Result[] = [];
    const listed: Listed[] = [];
    for (const [at, { report, details }] of given.entries()) {
      // Sanitizing and grouping a hundred large reports in one turn would block all other requests.
      await yieldToEventLoop();
      const [accepted] = await Promise.allSettled([this.acceptance.accept(report, details)]);
      if (accepted.status === 'fulfilled') listed.push({ at, accepted: accepted.value });
      else results[at] = accepted;
    }
    const classes = groupsOf(listed, ({ report }) => [report.project, report.exception_class ?? null]);
    await Promise.all(classes.map((one) => this.#class(one, results)));
    return results;
  }

  async #class(listed: readonly Listed[], results: Result[]): Promise<void> {
    const groups = groupsOf(listed, ({ keyed }) => [keyed.dedup_key]);
    const known = await Promise.all(groups.map(async ([first]) => first && (await this.placing.known(first.accepted))));
    await Promise.all(groups.filter((_, i) => known[i]).map((group) => this.#together(group, results)));
    for (const group of groups.filter((_, i) => !known[i])) {
      await this.#together(group.slice(0, 1), results);
      await this.#together(group.slice(1), results);
    }
  }

  async #together(listed: readonly Listed[], results: Result[]): Promise<void> {
    const settled = await Promise.allSettled(listed.map(({ accepted }) => this.intake.recordAccepted(accepted)));
    for (const [i, { at }] of listed.entries()) results[at] = settled[i] as Result;
  }
}

function groupsOf(listed: readonly Listed[], nameOf: (accepted: AcceptedReport) => readonly unknown[]): Listed[][] {
  const groups = new Map<string, Listed[]>();
  for (const one of listed) {
    const name = JSON.stringify(nameOf(one.accepted));
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}
