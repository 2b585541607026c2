/** The rules of shifts. They know ports alone, so a test makes them from `contextFor(plugin)`. */
import { event, notFound, refusals, type Clock, type Collection, type Doc, type Ids } from 'aos/plugin';

export interface Shift extends Doc {
  person: string;
  /** RFC 3339 UTC; the end is not part of the shift. */
  starts_at: string;
  ends_at: string;
  /** Whether its begin was announced. */
  announced: boolean;
}

export type NewShift = Pick<Shift, 'person' | 'starts_at' | 'ends_at'>;

/** Data of `oncall.handover`. */
export interface Handover {
  shift_id: string;
  person: string;
}

export const HANDOVER = event<Handover>('oncall.handover');

export const ERRORS = {
  oncall_overlap: [409, 'Another shift overlaps'],
  oncall_backwards: [422, 'The shift ends before it starts'],
} as const;
const refuse = refusals(ERRORS);

export class Shifts {
  private readonly rows: Collection<Shift>;
  private readonly clock: Clock;
  private readonly ids: Ids;

  constructor(rows: Collection<Shift>, clock: Clock, ids: Ids) {
    this.rows = rows;
    this.clock = clock;
    this.ids = ids;
  }

  /** Running and coming ones, the next first. */
  async coming(limit = 50): Promise<Shift[]> {
    const filter = { ends_at: { gt: this.clock.iso() } };
    return (await this.rows.find({ filter, sort: [['starts_at', 'asc']], limit })).items;
  }

  /** Who is on call now; null: nobody. */
  async now(): Promise<Shift | null> {
    const at = this.clock.iso();
    const { items } = await this.rows.find({ filter: { starts_at: { lte: at }, ends_at: { gt: at } }, limit: 1 });
    return items[0] ?? null;
  }

  /**
   * The caller holds the plugin's lock `shifts`: two shifts that are added at once could not see
   * each other.
   * @throws ServiceError oncall_overlap, oncall_backwards
   */
  async add({ person, starts_at, ends_at }: NewShift): Promise<Shift> {
    if (ends_at <= starts_at)
      throw refuse('oncall_backwards', 'The shift ends before it starts.', {
        fields: { ends_at: 'Enter a later time.' },
      });
    const overlap = { starts_at: { lt: ends_at }, ends_at: { gt: starts_at } };
    const [other] = (await this.rows.find({ filter: overlap, limit: 1 })).items;
    if (other !== undefined)
      throw refuse('oncall_overlap', `${other.person} is on call at that time.`, {
        fields: { starts_at: 'Is taken.' },
      });
    const shift: Shift = { id: this.ids.uuid(), person, starts_at, ends_at, announced: false };
    await this.rows.insert(shift);
    return shift;
  }

  /** @throws ServiceError not_found */
  async remove(id: string): Promise<void> {
    if ((await this.rows.remove({ id })) === 0) throw notFound(`shift ${id}`);
  }

  /**
   * Announces the running shift, once. `announce` may be asked again with the same shift when it
   * answers false, or when the process ends before the mark is written: listeners know the event by
   * its id.
   */
  async handOver(announce: (shift: Shift) => Promise<boolean>): Promise<void> {
    const shift = await this.now();
    if (shift === null || shift.announced || !(await announce(shift))) return;
    await this.rows.change({ id: shift.id }, { set: { announced: true } });
  }
}
