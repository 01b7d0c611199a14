import type { doors as english } from "../en/doors.ts"

/** The pages before a person is signed in. */
export const doors: Readonly<Record<keyof typeof english, string>> = {
  "signIn.title": "Iniciar sesión",
  "signIn.email": "Dirección de correo",
  "signIn.password": "Contraseña",
  "signIn.button": "Iniciar sesión",
  "signIn.wrong": "La dirección de correo o la contraseña no es correcta.",
  "signIn.noOperator.title": "Todavía nadie puede iniciar sesión",
  "signIn.noOperator.text": "El servicio mostró un enlace al arrancar. Para mostrar otro, ejecute:",
  "signIn.insecure.title": "Esta dirección no está protegida",
  "signIn.insecure.text":
    "Las contraseñas no deben viajar sin cifrar. Ponga un proxy TLS delante del servicio, asigne a PUBLIC_URL su dirección https y abra la consola allí. En la propia máquina funciona http://localhost.",
  "signIn.signedOut": "Ha cerrado la sesión.",
  "setup.title": "Configurar esta instalación",
  "setup.lead": "Usted será su operador y el propietario de la primera cuenta.",
  "setup.name": "Su nombre",
  "setup.email": "Dirección de correo",
  "setup.emailHint": "Con ella inicia sesión.",
  "setup.password": "Contraseña",
  "setup.passwordHint": "Al menos 12 caracteres. Varias palabras sin relación entre sí son una buena opción.",
  "setup.language": "Idioma",
  "setup.zone": "Zona horaria",
  "setup.button": "Empezar",
  "setup.stale.title": "Este enlace no funciona",
  "setup.stale.text":
    "Ya se usó, tiene más de un día u otra persona ha configurado la instalación. Para mostrar otro enlace, ejecute:",
  "setup.stale.signIn": "Ir a la página de inicio de sesión",
  "setup.wrongPassword": "Ya existe una cuenta con esta dirección. Introduzca su contraseña para ser el operador.",
  "noAccount.title": "Todavía no pertenece a ninguna cuenta",
  "noAccount.text": "Pida a un propietario que le añada.",
  "language.en": "English",
  "language.fr": "Français",
  "language.es": "Español",
  "language.pt": "Português",
  "language.de": "Deutsch",
  "language.ar": "العربية",
  "language.sw": "Kiswahili",
  "language.rw": "Ikinyarwanda"
}
