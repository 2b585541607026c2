/**
 * Events of the Rust SDK: most `filename`s are `mod.rs` or `lib.rs`, and traces start with the
 * frames that captured them.
 */
import { findRustMachinery } from '../../lib/text/rust-frames.js';
import type { Thrown } from './chain.js';
import type { StackFrame } from './frames.js';
import { line, record, type Loose } from './values.js';

/**
 * Build path of the standard library. Its generic code is compiled into the application, and some
 * SDKs report it as such.
 */
const STANDARD = /^[\\/]rustc[\\/]/;
/**
 * Rust's SDK reports the platform `native`, as others do. A relay or another SDK may omit the SDK
 * name; then a standard library frame identifies Rust.
 */
export const isRust = (event: Loose, platform: string | null, chain: readonly Thrown[]): boolean =>
  platform === 'rust' ||
  line(record(event['sdk'])?.['name'])?.startsWith('sentry.rust') === true ||
  chain.some(({ frames }) => frames.some(({ absPath, place }) => STANDARD.test(absPath ?? place ?? '')));

const CRATE = /[\\/]\.cargo[\\/]registry[\\/]src[\\/]/;

/** Inlined function without a name: its location was read as its name. */
const UNNAMED = /^at (\/.{1,1000}):(\d{1,9}):\d{1,9}$/;

const placed = (given: StackFrame): StackFrame => {
  const [, path, line] = (given.place === null && UNNAMED.exec(given.function ?? '')) || [];
  const frame = path === undefined ? given : { ...given, function: null, place: path, line: Number(line) };
  const place = frame.absPath ?? frame.place;
  const isForeign = STANDARD.test(place ?? '') || CRATE.test(place ?? '');
  // Unmarked frames outside the standard library and crates belong to the application.
  return { ...frame, place, inApp: isForeign ? false : (frame.inApp ?? place !== null) };
};

export function rustFrames(frames: readonly StackFrame[]): StackFrame[] {
  const named = frames.map(placed);
  return named.slice(findRustMachinery(named.map((one) => ({ function: one.function, file: one.place }))));
}
