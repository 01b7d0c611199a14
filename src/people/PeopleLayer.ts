import { Layer } from "effect"
import { Passkeys } from "./Passkeys.ts"
import { People } from "./People.ts"
import { SecondFactors } from "./SecondFactors.ts"
import { SetupLinks } from "./SetupLinks.ts"
import { SignIns } from "./SignIns.ts"

/** People with their sign-ins and what they prove. */
export const PeopleLayer = Layer.mergeAll(
  People.layer,
  SignIns.layer,
  SetupLinks.layer,
  SecondFactors.layer,
  Passkeys.layer
)
