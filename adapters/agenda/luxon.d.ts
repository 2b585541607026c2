/** As much of luxon, which has no types of its own, as is used here. */
declare module 'luxon' {
  export const Settings: { defaultLocale: string };
}
