/**
 * The single entry point for reports (contracts 20 and 21): accept → resolve group → count → follow
 * up.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { conflict } from '../../../kernel/errors.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { yieldToEventLoop } from '../../../lib/process/event-loop.js';
import type { Item, BatchReport, ReportResult, RecordOptions, Report } from '../../../ports/domain/bugs.js';
import { DEPS } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import { ClientRefService } from '../store/client-refs.js';
import { ItemService } from '../store/item-service.js';
import { ReportAcceptor } from './report-acceptor.js';
import { ErrorTrafficService } from '../lists/error-traffic.js';
import { OccurrenceCounter } from './occurrence-counter.js';
import { type FollowUpResult, CountFollowUp } from './follow-up.js';
import type { AcceptedReport, CountResult } from './incoming-report.js';
import { GroupResolver } from './group-resolver.js';
import type { ItemDoc } from '../item/model.js';
import { countLastHour } from '../item/occurrence-rate.js';
import { toItemView, getStatusAt } from '../item/api-views.js';
import type { Clock } from '../../../ports/clock.js';

interface OccurrenceResult {
  outcome: 'created' | 'counted' | 'repeated';
  /** For a repeat, the key of its item. */
  dedup_key: string;
  regression: boolean;
  sampled: boolean;
  title: string;
  ignored_by: string | null;
}

/** Built on access, because few callers need it. */
class RecordedReport implements ReportResult {
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
  readonly group: ReportResult['group'];
  readonly #doc: ItemDoc;
  readonly #now: number;
  #item: Item | null;

  /** @param now milliseconds since 1970 */
  constructor(doc: ItemDoc, occurred: OccurrenceResult, now: number, item: Item | null) {
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

type RecordResult = PromiseSettledResult<ReportResult>;

interface AcceptedEntry {
  at: number;
  accepted: AcceptedReport;
}

/** When the item is deleted or created concurrently. */
const MAX_RETRIES = 20;

@injectable()
export class ReportIntake {
  /**
   * Serializes reports that may create an item in the same family, so that no item number is
   * wasted.
   */
  readonly #familyMutex = new KeyedMutex();

  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(ReportAcceptor) private readonly acceptance: ReportAcceptor,
    @inject(ClientRefService) private readonly refs: ClientRefService,
    @inject(GroupResolver) private readonly groupResolver: GroupResolver,
    @inject(OccurrenceCounter) private readonly counting: OccurrenceCounter,
    @inject(CountFollowUp) private readonly followUp: CountFollowUp,
    @inject(ItemService) private readonly items: ItemService,
    @inject(ErrorTrafficService) private readonly traffic: ErrorTrafficService,
  ) {}

  /**
   * Resolves after the commit.
   * @throws ServiceError unknown_project
   */
  async record(given: Report, options: RecordOptions = {}): Promise<ReportResult> {
    return this.recordAccepted(await this.acceptance.accept(given, options.details), options);
  }

  async recordAccepted(accepted: AcceptedReport, options: RecordOptions = {}): Promise<ReportResult> {
    for (let beginning = 0; beginning < MAX_RETRIES; beginning++) {
      const counted = await this.#placeAndCount(accepted);
      if (counted === null) continue;
      this.#countTraffic(counted);
      return this.#toRecorded(await this.followUp.run(counted), accepted, options);
    }
    throw conflict('Too many concurrent changes of the item; send the report again.');
  }

  #countTraffic({ doc, outcome, incoming: { report, occurred, person } }: CountResult): void {
    if (doc.type !== 'error' || outcome === 'repeated' || report.muted_by) return;
    this.traffic.record(doc.project, occurred, person);
  }

  async #placeAndCount(accepted: AcceptedReport): Promise<CountResult | null> {
    const { ref } = accepted;
    const leading = this.groupResolver.findPlacement(accepted);
    const known = leading instanceof Promise ? await leading : leading;
    // References are nearly always new, and the write rejects an existing one.
    const isTried = known !== null && (ref === null || !this.refs.isRecentlyUsed(ref.id));
    const counted = isTried ? await this.counting.countFastPath(accepted, known) : null;
    if (counted !== null) return counted;

    const bound = ref === null ? null : await this.refs.find(ref.id);
    if (bound?.open_at === null) return this.counting.resolveRepeat(accepted, bound);
    if (bound !== null)
      return this.counting.countWithReload(accepted, this.groupResolver.toPlacement(bound.item_id, accepted), bound);
    if (known !== null) return this.counting.countWithReload(accepted, known, null);
    const { project, bare_key } = accepted.keyed;
    return this.#familyMutex.run(hashWithinProject(project, bare_key), () => this.#decideAndCount(accepted));
  }

  async #decideAndCount(accepted: AcceptedReport): Promise<CountResult | null> {
    const place = await this.groupResolver.decide(accepted);
    if (place.writes.length > 0) return this.counting.createItem(accepted, place);
    return (await this.counting.countFastPath(accepted, place)) ?? this.counting.countWithReload(accepted, place, null);
  }

  #toRecorded(
    { doc, outcome, regression, sampled, incoming }: FollowUpResult,
    { report, own_title: title }: AcceptedReport,
    options: RecordOptions,
  ): ReportResult | Promise<ReportResult> {
    const now = this.clock.now();
    const ignored_by = report.muted_by?.rule_id ?? null;
    const occurred = { outcome, dedup_key: incoming.key, regression, sampled, title, ignored_by };
    if (options.texts !== true) return new RecordedReport(doc, occurred, now, null);
    return this.items.toView(doc).then((whole) => new RecordedReport(doc, occurred, now, whole));
  }
}

/**
 * Records reports as if each had arrived alone (contract 21, intake). Equal keys are counted
 * together; new keys of one project and class in order, which decides the group of an unknown
 * origin.
 */
@injectable()
export class ReportBatchIntake {
  constructor(
    @inject(ReportAcceptor) private readonly acceptance: ReportAcceptor,
    @inject(GroupResolver) private readonly groupResolver: GroupResolver,
    @inject(ReportIntake) private readonly intake: ReportIntake,
  ) {}

  /** Returns the list's order. A rejected report affects no other. */
  async recordAll(given: readonly BatchReport[]): Promise<RecordResult[]> {
    const results: RecordResult[] = [];
    const listed: AcceptedEntry[] = [];
    for (const [at, { report, details }] of given.entries()) {
      // A hundred large reports would block all other requests.
      await yieldToEventLoop();
      const [accepted] = await Promise.allSettled([this.acceptance.accept(report, details)]);
      if (accepted.status === 'fulfilled') listed.push({ at, accepted: accepted.value });
      else results[at] = accepted;
    }
    const classes = groupReports(listed, ({ report }) => [report.project, report.exception_class ?? null]);
    await Promise.all(classes.map((one) => this.#recordClass(one, results)));
    return results;
  }

  async #recordClass(listed: readonly AcceptedEntry[], results: RecordResult[]): Promise<void> {
    const groups = groupReports(listed, ({ keyed }) => [keyed.dedup_key]);
    const known = await Promise.all(
      groups.map(async ([first]) => first && (await this.groupResolver.findPlacement(first.accepted))),
    );
    await Promise.all(groups.filter((_, i) => known[i]).map((group) => this.#recordTogether(group, results)));
    for (const group of groups.filter((_, i) => !known[i])) {
      await this.#recordTogether(group.slice(0, 1), results);
      await this.#recordTogether(group.slice(1), results);
    }
  }

  async #recordTogether(listed: readonly AcceptedEntry[], results: RecordResult[]): Promise<void> {
    const settled = await Promise.allSettled(listed.map(({ accepted }) => this.intake.recordAccepted(accepted)));
    for (const [i, { at }] of listed.entries()) results[at] = settled[i] as RecordResult;
  }
}

function groupReports(
  listed: readonly AcceptedEntry[],
  nameOf: (accepted: AcceptedReport) => readonly unknown[],
): AcceptedEntry[][] {
  const groups = new Map<string, AcceptedEntry[]>();
  for (const one of listed) {
    const name = JSON.stringify(nameOf(one.accepted));
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}
