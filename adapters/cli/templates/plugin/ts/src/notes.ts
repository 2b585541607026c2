/** The plugin's own rules. It knows ports alone, so a test makes it from `contextFor(plugin)`. */
import { refuse, type Clock, type Collection, type Doc, type Ids } from 'aos/plugin';

export interface Note extends Doc {
  text: string;
  /** RFC 3339 UTC. */
  at: string;
  source: 'person' | 'tracker';
}

const DAY_MS = 86_400_000;

export class Notes {
  private readonly rows: Collection<Note>;
  private readonly clock: Clock;
  private readonly ids: Ids;

  constructor(rows: Collection<Note>, clock: Clock, ids: Ids) {
    this.rows = rows;
    this.clock = clock;
    this.ids = ids;
  }

  /** Newest first. */
  async newest(limit = 50): Promise<Note[]> {
    return (await this.rows.find({ sort: [['at', 'desc']], limit })).items;
  }

  /** @throws ServiceError sample_empty */
  async add(text: string): Promise<Note> {
    const fields = { text: 'Enter a text.' };
    if (text.trim() === '') throw refuse(422, 'sample_empty', 'The note has no text.', { fields });
    const note: Note = { id: this.ids.uuid(), text: text.trim(), at: this.clock.iso(), source: 'person' };
    await this.rows.insert(note);
    return note;
  }

  /** For an event, which may come again with the same id. */
  async once(id: string, text: string): Promise<void> {
    const setOnInsert = { text, at: this.clock.iso(), source: 'tracker' };
    await this.rows.change({ id }, { setOnInsert }, { upsert: true });
  }

  async forget(days: number): Promise<void> {
    const before = new Date(this.clock.now() - days * DAY_MS).toISOString();
    await this.rows.remove({ at: { lt: before } });
  }

  count(): Promise<number> {
    return this.rows.count();
  }
}
