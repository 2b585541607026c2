/**
 * Most `filename`s are `mod.rs` or `lib.rs`, and traces start with the frames that captured them.
 */
import { countRustMachineryFrames } from '../../lib/text/rust-frames.js';
import type { ChainedException } from './exception-chain.js';
import type { StackFrame } from './stack-frames.js';
import { toLine, toRecord, type UntypedRecord } from './untyped-values.js';

/** Its generic code is compiled into the application, and some SDKs report it as such. */
const STANDARD_LIBRARY_PATTERN = /^[\\/]rustc[\\/]/;
/**
 * The platform is `native`, and the SDK name may be missing; then a standard library frame
 * identifies Rust.
 */
export const isRust = (event: UntypedRecord, platform: string | null, chain: readonly ChainedException[]): boolean =>
  platform === 'rust' ||
  toLine(toRecord(event['sdk'])?.['name'])?.startsWith('sentry.rust') === true ||
  chain.some(({ frames }) =>
    frames.some(({ absPath, place }) => STANDARD_LIBRARY_PATTERN.test(absPath ?? place ?? '')),
  );

const CRATE_PATTERN = /[\\/]\.cargo[\\/]registry[\\/]src[\\/]/;

/** Inlined without a name: its location was read as its name. */
const UNNAMED_FUNCTION_PATTERN = /^at (\/.{1,1000}):(\d{1,9}):\d{1,9}$/;

const normalizePlace = (given: StackFrame): StackFrame => {
  const [, path, line] = (given.place === null && UNNAMED_FUNCTION_PATTERN.exec(given.function ?? '')) || [];
  const frame = path === undefined ? given : { ...given, function: null, place: path, line: Number(line) };
  const place = frame.absPath ?? frame.place;
  const isForeign = STANDARD_LIBRARY_PATTERN.test(place ?? '') || CRATE_PATTERN.test(place ?? '');
  // Unmarked frames of other places belong to the application.
  return { ...frame, place, inApp: isForeign ? false : (frame.inApp ?? place !== null) };
};

export function normalizeRustFrames(frames: readonly StackFrame[]): StackFrame[] {
  const named = frames.map(normalizePlace);
  return named.slice(countRustMachineryFrames(named.map((one) => ({ function: one.function, file: one.place }))));
}
