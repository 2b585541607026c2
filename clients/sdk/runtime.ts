/** Small things of the runtime that are the same in Node and in browsers. */

/** 32 hex digits of the system's random numbers. */
export const randomId = (): string =>
  Array.from(globalThis.crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

/** A timer of Node that does not keep the process alive; in browsers none does. */
export function letGo(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === 'object') timer.unref();
}
