/**
 * What Rust's SDK sends: nearly every `filename` is `mod.rs` or `lib.rs`, and a trace begins with what took it. Pure.
 */
import { findRustMachinery } from '../../lib/text/rust-frames.js';
import type { Thrown } from './chain.js';
import type { StackFrame } from './frames.js';
import { line, record, type Loose } from './values.js';

/**
 * Where the standard library was built. Its generic code is compiled into the application, and some SDKs take it for
 * that.
 */
const STANDARD = /^[\\/]rustc[\\/]/;
/**
 * Rust's SDK calls its platform `native`, as others do, and a relay or another SDK that took the trace does not name
 * it: then a frame of Rust's standard library says so.
 */
export const isRust = (event: Loose, platform: string | null, chain: readonly Thrown[]): boolean =>
  platform === 'rust' ||
  line(record(event['sdk'])?.['name'])?.startsWith('sentry.rust') === true ||
  chain.some(({ frames }) => frames.some(({ absPath, place }) => STANDARD.test(absPath ?? place ?? '')));

/** The paths of crates, as Cargo unpacks them. */
const CRATE = /[\\/]\.cargo[\\/]registry[\\/]src[\\/]/;

/** Of an inlined function without a name: what was read as its name is its place. */
const UNNAMED = /^at (\/.{1,1000}):(\d{1,9}):\d{1,9}$/;

const placed = (given: StackFrame): StackFrame => {
  const [, path, line] = (given.place === null && UNNAMED.exec(given.function ?? '')) || [];
  const frame = path === undefined ? given : { ...given, function: null, place: path, line: Number(line) };
  const place = frame.absPath ?? frame.place;
  const isForeign = STANDARD.test(place ?? '') || CRATE.test(place ?? '');
  // Where the SDK says nothing, all that is not the standard library's or a crate's is the application's.
  return { ...frame, place, inApp: isForeign ? false : (frame.inApp ?? place !== null) };
};

/** Without the frames of the SDK and of the panic machinery, with whole paths. */
export function rustFrames(frames: readonly StackFrame[]): StackFrame[] {
  const named = frames.map(placed);
  return named.slice(findRustMachinery(named.map((one) => ({ function: one.function, file: one.place }))));
}
