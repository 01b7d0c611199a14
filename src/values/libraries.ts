/** Large libraries of the contract, as browsers and other clients load them. */
import * as Phones from "libphonenumber-js/max"
import * as Suffixes from "tldts"

/** The numbering plans. */
export const phones = () => Phones

/** The list of public suffixes. */
export const suffixes = () => Suffixes
