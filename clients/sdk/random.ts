/** 32 hex digits of the system's random numbers; Node and browsers alike. */
export const randomId = (): string =>
  Array.from(globalThis.crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
