/**
 * Loaded before the service (`--import`) while a story is told: the parent says by message how many
 * milliseconds to add to the time, so that two weeks pass within a minute. Timers run as ever.
 */
const Real = Date;
let shift = 0;

/** As `Date`, but for the present. */
class ShiftedDate extends Real {
  constructor(...parts: ConstructorParameters<DateConstructor>) {
    if ((parts as unknown[]).length === 0) super(ShiftedDate.now());
    else super(...parts);
  }

  static override now(): number {
    return Real.now() + shift;
  }
}
globalThis.Date = ShiftedDate as DateConstructor;

process.on('message', (message: { shift: number }) => {
  shift = message.shift;
  process.send?.({ shifted: shift });
});
// Only the service itself decides how long it lives.
process.channel?.unref();
