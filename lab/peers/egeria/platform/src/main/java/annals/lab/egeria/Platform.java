package annals.lab.egeria;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/**
 * Egeria's platform of servers: Spring Boot serves all its REST resources, as the main class of Egeria's `server-chassis-spring` does,
 * which is in no registry.
 */
@SpringBootApplication(scanBasePackages = "org.odpi.openmetadata")
public class Platform {
    public static void main(String[] arguments) {
        SpringApplication.run(Platform.class, arguments);
    }
}
