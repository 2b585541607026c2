/** The plugin's own rules. It knows ports alone, so a test makes it from `contextFor(plugin)`. */
import { refuse } from 'aos/plugin';

const DAY_MS = 86_400_000;

export class Notes {
  rows;
  clock;
  ids;

  constructor(rows, clock, ids) {
    this.rows = rows;
    this.clock = clock;
    this.ids = ids;
  }

  /** Newest first. */
  async newest(limit = 50) {
    return (await this.rows.find({ sort: [['at', 'desc']], limit })).items;
  }

  /** @throws ServiceError sample_empty */
  async add(text) {
    const fields = { text: 'Enter a text.' };
    if (text.trim() === '') throw refuse(422, 'sample_empty', 'The note has no text.', { fields });
    const note = { id: this.ids.uuid(), text: text.trim(), at: this.clock.iso(), source: 'person' };
    await this.rows.insert(note);
    return note;
  }

  /** For an event, which may come again with the same id. */
  async once(id, text) {
    const setOnInsert = { text, at: this.clock.iso(), source: 'tracker' };
    await this.rows.change({ id }, { setOnInsert }, { upsert: true });
  }

  async forget(days) {
    const before = new Date(this.clock.now() - days * DAY_MS).toISOString();
    await this.rows.remove({ at: { lt: before } });
  }

  count() {
    return this.rows.count();
  }
}
