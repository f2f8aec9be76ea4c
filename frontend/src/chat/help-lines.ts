/** Where people in despair find somebody to talk to, by country. */
import { locale } from "@/lib/locale";

export interface HelpLine {
  /** As it is dialled there. */
  number: string;
  name: string;
}

/** Lists help lines of nearly every country, in many languages. */
export const ALL_HELP_LINES = "https://findahelpline.com";

/** National lines that answer day and night, free of charge; of each region the one it publishes. */
const BY_REGION: Record<string, HelpLine> = {
  AE: { number: "800 4673", name: "Mental Support Line" },
  AT: { number: "142", name: "Telefonseelsorge" },
  AU: { number: "13 11 14", name: "Lifeline" },
  BE: { number: "0800 32 123", name: "Centre de Prévention du Suicide" },
  BR: { number: "188", name: "CVV" },
  CA: { number: "988", name: "Suicide Crisis Helpline" },
  CH: { number: "143", name: "Die Dargebotene Hand · La Main Tendue" },
  CN: { number: "12356", name: "心理援助热线" },
  DE: { number: "0800 111 0 111", name: "TelefonSeelsorge" },
  EG: { number: "16328", name: "الأمانة العامة للصحة النفسية" },
  ES: { number: "024", name: "Atención a la conducta suicida" },
  FR: { number: "3114", name: "Numéro national de prévention du suicide" },
  GB: { number: "116 123", name: "Samaritans" },
  IE: { number: "116 123", name: "Samaritans" },
  IN: { number: "14416", name: "Tele-MANAS" },
  JP: { number: "0120-279-338", name: "よりそいホットライン" },
  LB: { number: "1564", name: "Embrace" },
  MX: { number: "800 911 2000", name: "Línea de la Vida" },
  NZ: { number: "1737", name: "Need to talk?" },
  SA: { number: "920033360", name: "المركز الوطني لتعزيز الصحة النفسية" },
  SG: { number: "1767", name: "Samaritans of Singapore" },
  TW: { number: "1925", name: "安心專線" },
  US: { number: "988", name: "Suicide & Crisis Lifeline" },
};

/** The line of the reader's country, as the browser's language names it; none where none is known. */
export function helpLine(tag: string = locale()): HelpLine | undefined {
  return BY_REGION[new Intl.Locale(tag).maximize().region ?? ""];
}
